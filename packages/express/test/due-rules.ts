/** The rules of the contract with clients that are due, by section, apart from those about Next.js. */
export const dueRules: readonly string[] = [
  ...rules("T", [1, 2, 3, 4, 5, 6, 7, 8, 9]),
  ...rules("S", [1, 2, 3, 4, 5, 6]),
  ...rules("RA", [1, 2, 3, 4, 5, 6, 7, 8, 9]),
  ...rules("X", [1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13]),
  ...rules("M", [1, 2, 3, 4, 5, 6]),
  ...rules("I", [1, 2, 3, 4, 5, 6, 7, 9, 11, 12, 14]),
  ...rules("B", [1, 2, 3, 4, 5, 6, 7, 8]),
  ...rules("C", [1, 2, 5, 6, 7]),
  ...rules("H", [1, 2, 3, 4, 5, 6]),
  ...rules("E", [1, 2, 3, 4, 5, 6, 7, 8]),
  ...rules("G", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
];

function rules(section: string, numbers: readonly number[]): readonly string[] {
  return numbers.map((number) => `${section}-${number}`.replace("G-", "G"));
}
