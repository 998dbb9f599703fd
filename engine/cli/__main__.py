"""`python -m engine.cli`: the program without its script on the path."""

from engine.cli.main import main

if __name__ == "__main__":
    main()
