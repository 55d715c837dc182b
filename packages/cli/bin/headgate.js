#!/usr/bin/env node
import { run } from "@headgate/cli";

// Who reads the output may have seen enough, as `head` does.
process.stdout.on("error", (error) => {
  if (error.code !== "EPIPE") throw error;
});
process.exitCode = await run(process.argv.slice(2), process);
