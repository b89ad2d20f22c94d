"""The scikit-learn estimators: they validate, call the engine, and set the fitted attributes."""
