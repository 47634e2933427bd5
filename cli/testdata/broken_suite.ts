throw new Error("This file is broken\nin two lines");
