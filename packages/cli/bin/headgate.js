#!/usr/bin/env node
import { run } from "@headgate/cli";

process.exitCode = await run(process.argv.slice(2), process);
