/** How many keys a server looks at for a page: enough to get on, few enough not to keep others waiting. */
export const keysOfPage = 1_000;

/** Where the next page begins, and the keys of this one. */
export type Page = readonly [cursor: string | number, keys: readonly string[]];

/** Asks for pages of keys until the server is through. */
export async function* pagesOf(
  ask: (cursor: string) => Promise<Page>,
): AsyncGenerator<readonly string[]> {
  let cursor = "0";
  do {
    const [next, keys] = await ask(cursor);
    yield keys;
    cursor = String(next);
  } while (cursor !== "0");
}
