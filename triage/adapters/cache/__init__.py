"""Door to what is kept between jobs: answers that were paid for."""
