"""Code that several back ends share. It contains no back end."""
