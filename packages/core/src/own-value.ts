/** What an object holds itself under a name: "constructor" of a prototype is nothing that anybody gave. */
export function ownValue<T>(
  holder: { readonly [name: string]: T } | null | undefined,
  name: string,
): T | undefined {
  return Object.hasOwn(holder ?? {}, name) ? holder?.[name] : undefined;
}
