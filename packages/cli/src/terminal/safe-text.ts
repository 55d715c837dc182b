/** Text from a log as a terminal may see it: what could steer the terminal is written out. */
export function safeText(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (character) => {
    const code = character.codePointAt(0) as number;
    return `\\u{${code.toString(16)}}`;
  });
}
