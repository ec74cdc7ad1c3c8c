"""The function of AWS Lambda that limits how long a machine runs."""
