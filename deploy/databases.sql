-- The image makes the database "collector" itself; the marketplace has one of its own.
CREATE DATABASE marketplace;
