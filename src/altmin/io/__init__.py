"""Files: records, and the container of model files and checkpoints."""
