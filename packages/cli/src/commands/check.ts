import { usageError } from "../errors.js";
import { counted } from "../terminal/input-text.js";
import { policyWords } from "../words/policy-words.js";
import { parsed } from "./options.js";
import { faultLine, readPolicyFile } from "./policies-file.js";
import type { Terminal } from "./terminal.js";

export const checkHelp = `headgate check POLICIES.json …

Checks policy files: prints every fault with its path, or each policy in words.
Exits with 1 when a file has a fault.

  --json    print the faults and policies as JSON
`;

/** `headgate check`: the exit code. */
export async function check(args: readonly string[], { stdout }: Terminal): Promise<number> {
  const { values, positionals } = parsed(args, {
    json: { type: "boolean" },
    help: { type: "boolean", short: "h" },
  });
  if (values.help) {
    stdout.write(checkHelp);
    return 0;
  }
  if (positionals.length === 0) throw usageError("check: name a policy file");
  const readings = await Promise.all(
    positionals.map(async (file) => ({ file, ...(await readPolicyFile(file)) })),
  );
  if (values.json) {
    const files = readings.map(({ file, policies = [], faults = [] }) => ({
      file,
      faults,
      policies: policies.map((policy) => ({ ...policy, words: policyWords(policy) })),
    }));
    stdout.write(`${JSON.stringify(files, undefined, 2)}\n`);
  } else {
    for (const { file, policies = [], faults = [] } of readings) {
      const wordy = policies.map((policy) => `  ${policy.name}: ${policyWords(policy)}`);
      const count =
        faults.length > 0
          ? counted(faults.length, "fault")
          : policies.length === 1
            ? "1 policy"
            : `${policies.length} policies`;
      stdout.write(`${[`${file}: ${count}`, ...faults.map(faultLine), ...wordy].join("\n")}\n`);
    }
  }
  return readings.some(({ faults }) => faults !== undefined) ? 1 : 0;
}
