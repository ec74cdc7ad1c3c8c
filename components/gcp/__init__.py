"""The Google Cloud side: host image, image repositories, accounts, and ways in that need no key."""
