import { writeFile } from "node:fs/promises";
import { inputError, messageOf } from "../errors.js";

/** Writes a page to a file. */
export async function writePage(file: string, page: string): Promise<void> {
  await writeFile(file, page).catch((error: unknown) => {
    throw inputError(`${file}: cannot be written: ${messageOf(error)}`, error);
  });
}
