"""What a repository gets: typed models of `.cirun.yml` and of workflows, and their rendering to finished files.

Everything here is values in, text out. `kit` may read the whole project; nothing of the project but `ops` reads it.
"""
