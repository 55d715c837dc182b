// Writes the JSON Schema of policy files, which editors read, from the built package.
import { writeFileSync } from "node:fs";
import { policyFileJsonSchema } from "../dist/bundle/schema.js";

const file = new URL("../policies.schema.json", import.meta.url);
writeFileSync(file, `${JSON.stringify(policyFileJsonSchema(), null, 2)}\n`);
