import type { Millis } from "@headgate/core";
import type { Client, Clients } from "./clients.js";
import type { Column } from "./columns.js";

/** Refused successes that are told one by one. */
const mostTold = 1_000;

/** Failures in a row from which on a run looks like guessing. */
export const guessingFrom = 10;

/** A request that succeeded when it was made, and that the policy would have refused. */
export interface RefusedSuccess {
  readonly atMs: Millis;
  readonly client: string;
  /** Failures of the same client right before it, with no success among them. */
  readonly failuresBefore: number;
  /** When the first of them was; undefined when there was none. */
  readonly firstFailureMs: Millis | undefined;
}

/** Failures of one client in a row. */
export interface Run {
  readonly client: string;
  readonly failures: number;
  readonly refused: number;
  readonly startMs: Millis;
}

/** What a policy would have done with requests by how they ended. */
export class Attempts {
  readonly #inARow: Column;
  readonly #refusedInARow: Column;
  readonly #sinceMs: Column;
  readonly refusedSuccesses: RefusedSuccess[] = [];
  successes = 0;
  successesRefused = 0;
  failures = 0;
  failuresRefused = 0;
  longestRun: Run | undefined;
  /** Runs that look like guessing, all failures in them, and how many of these were refused. */
  readonly guessing: { runs: number; failures: number; refused: number } = {
    runs: 0,
    failures: 0,
    refused: 0,
  };

  constructor(clients: Clients) {
    this.#inARow = clients.column();
    this.#refusedInARow = clients.column();
    this.#sinceMs = clients.column();
  }

  count(
    { subject: client, row }: Client,
    attempt: {
      readonly ending: "success" | "failure";
      readonly refused: boolean;
      readonly atMs: Millis;
    },
  ): void {
    const { ending, refused, atMs } = attempt;
    if (ending === "failure") {
      this.failures += 1;
      if (refused) this.failuresRefused += 1;
      if (row !== undefined) this.#lengthen(row, client, { refused, atMs });
      return;
    }
    this.successes += 1;
    if (refused) {
      this.successesRefused += 1;
      if (this.refusedSuccesses.length < mostTold && row !== undefined)
        this.refusedSuccesses.push({ atMs, client, ...this.#before(row) });
    }
    if (row === undefined) return;
    this.#inARow.set(row, 0);
    this.#refusedInARow.set(row, 0);
  }

  #lengthen(row: number, client: string, failure: { refused: boolean; atMs: Millis }): void {
    if (this.#inARow.get(row) === 0) this.#sinceMs.set(row, failure.atMs);
    this.#inARow.increment(row);
    if (failure.refused) this.#refusedInARow.increment(row);
    const failures = this.#inARow.get(row);
    this.#noteGuessing(failures, failure.refused ? 1 : 0, this.#refusedInARow.get(row));
    if (failures <= (this.longestRun?.failures ?? 0)) return;
    const refused = this.#refusedInARow.get(row);
    this.longestRun = { client, failures, refused, startMs: this.#sinceMs.get(row) };
  }

  #noteGuessing(failures: number, refused: number, refusedSoFar: number): void {
    if (failures < guessingFrom) return;
    const isNew = failures === guessingFrom;
    this.guessing.runs += isNew ? 1 : 0;
    this.guessing.failures += isNew ? failures : 1;
    this.guessing.refused += isNew ? refusedSoFar : refused;
  }

  #before(row: number): Pick<RefusedSuccess, "failuresBefore" | "firstFailureMs"> {
    const failuresBefore = this.#inARow.get(row);
    return {
      failuresBefore,
      firstFailureMs: failuresBefore === 0 ? undefined : this.#sinceMs.get(row),
    };
  }
}
