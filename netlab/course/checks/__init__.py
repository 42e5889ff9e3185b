"""Is an answer right? Answers as plain data, and how they are compared."""
