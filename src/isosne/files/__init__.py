"""Tables that go in and maps that come out."""
