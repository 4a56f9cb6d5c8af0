"""The test house: servers, the recording proxy, sample data, and the runner of ddbfs."""
