"""Code that the two back ends of cirun share. It is not a back end."""
