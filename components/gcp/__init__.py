"""The Google Cloud side: host image, image repositories, accounts, and access without keys."""
