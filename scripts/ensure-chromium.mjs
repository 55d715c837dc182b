// Makes sure that the browser tests find a Chromium: `CHROMIUM_BIN`, or the system's, which is installed
// where that can be done without asking.
import { installSystemPackage, runs } from "./system-package.mjs";

const places = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/**
 * Installs a Chromium where there is none, and puts its path into `CHROMIUM_BIN` for the tests; ends the
 * process with a line that says how if it cannot.
 */
export async function ensureChromium() {
  if (findChromium() === undefined && process.env.CHROMIUM_BIN === undefined)
    await installSystemPackage({ debian: "chromium", homebrew: ["--cask", "chromium"] });
  const found = findChromium();
  if (found !== undefined) {
    process.env.CHROMIUM_BIN = found;
    return;
  }
  console.error(
    "headgate: the tests need Chromium and cannot run it: install it (Debian and Ubuntu: apt-get install chromium; macOS: brew install --cask chromium) or set CHROMIUM_BIN to its path",
  );
  process.exit(1);
}

/** The path of a Chromium that starts, or undefined. */
function findChromium() {
  const { CHROMIUM_BIN } = process.env;
  return (CHROMIUM_BIN === undefined ? places : [CHROMIUM_BIN]).find(runs);
}
