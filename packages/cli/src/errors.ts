/** What the person at the terminal can mend: shown as one message, without a stack. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  /** 1 for what is wrong with an input, 2 for a wrong use of the command. */
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** The error for a wrong use of a command. */
export function usageError(message: string): CommandError {
  return new CommandError(message, 2);
}

/** The error for an input that cannot be used. */
export function inputError(message: string, cause?: unknown): CommandError {
  return new CommandError(message, 1, { cause });
}

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
