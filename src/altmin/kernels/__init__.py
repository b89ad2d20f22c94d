"""Small dense and sparse kernels that the algorithms share."""
