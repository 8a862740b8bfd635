/** What a shell takes as it stands; `~` only where it stands for the home folder. */
const PLAIN_WORD = /^~?[\w./:@%+,=\u2026-]+$/

/** A word as it is typed in a shell: quoted where that is needed. */
export function shellWord(word: string): string {
  return PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** A command as it is typed: what is put into its places is one word each, whatever it holds. */
export function shellLine(texts: TemplateStringsArray, ...words: readonly string[]): string {
  return texts.map((text, at) => text + (at < words.length ? shellWord(words[at] ?? '') : '')).join('')
}
