/* Rules of public names (decisions §12). */

export const MAX_PUBLIC_NAME_CHARS = 80

/** Control, direction and invisible characters; emoji variation selectors are allowed. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u
const EMOJI_FORM = /(?<=\p{Extended_Pictographic})\uFE0F/gu

/** First invisible character, as `U+200B`. */
export function hiddenCharacter(text: string): string | undefined {
  const code = HIDDEN.exec(text.replace(EMOJI_FORM, ''))?.[0]?.codePointAt(0)
  return code === undefined ? undefined : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}

/** The marketplace's own name, which is reserved. */
const HOUSE = 'souk'

/**
 * Lookalikes of the letters of `souk` (UTS #39 confusables, lower case), plus digits, dollar sign and stroked letters.
 * Accents and compatibility forms have been removed before the lookup.
 */
const looksLike: Readonly<Record<string, string>> = {
  s: '5$§\u0455\uA731\u01BD\uABAA\u{118C1}\u{10448}\u057F\uABA5\uA4E2\u{16F3A}\u{10296}\u13D5\uABD5\u015F',
  o: '0\u0C02\u0C82\u0D02\u0D82\u0966\u0A66\u0AE6\u0BE6\u0C66\u0CE6\u0D66\u0E50\u0ED0\u1040\u0665\u06F5\u1D0F\u1D11\uAB3D\u03BF\u03C3\u2C9F\u043E\u10FF\u0585\u05E1\u0647\u06BE\u06C1\u06D5\u0D20\u101D\u{104EA}\u{118C8}\u{118D7}\u{1042C}\u07C0\u09E6\u0B66\u3007\u{114D0}\u{118E0}\u2D54\u12D0\u0B20\uA4F3\u{118D5}\u{10292}\u{102AB}\u{10516}\u00F8\u0275\u04E9\u0298\u25CB\u25CF\u2B55',
  u: '\uA79F\u1D1C\uAB4E\uAB52\u028B\u03C5\u057D\u{104F6}\u{118D8}\u222A\u22C3\u1200\u144C\uA4F4\u{16F42}\u03BC\u0446',
  k: '\u03BA\u2C95\u043A\uABB6\u13E6\u16D5\uA4D7\u{10518}\u1D0B\u0138\u049B\u049D\u049F\u04A1\u212A',
}
const letters = new Map(
  Object.entries(looksLike).flatMap(([letter, signs]) => [...signs].map((sign) => [sign, letter] as const)),
)

export function isHouseName(text: string): boolean {
  const plain = text
    .replace(/[\u2122\u2120]/g, '') // marks of a trade, which would become letters
    .normalize('NFKD')
    .toLowerCase()
    .normalize('NFKD')
  const seen = [...plain].map((sign) => letters.get(sign) ?? sign).join('')
  return seen.replace(/[^\p{L}\p{N}]/gu, '') === HOUSE
}
