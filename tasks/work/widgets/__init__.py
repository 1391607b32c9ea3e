"""Controls of the worker pages: each cleans what its control may have sent."""
