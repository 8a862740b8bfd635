import { eachText } from '../cli/answer.ts'
import { type Failure, failureFacts } from '../cli/failure.ts'
import { isObject } from '../core/json.ts'

/** Longest text of an answer that an agent is shown; it is told how much is left out. */
const TEXT_CHARS_MAX = 16_384
/** Longest answer in all. */
const ANSWER_CHARS_MAX = 131_072

/** Controls but line breaks and tabs, what turns the direction of text, what is not seen at all. */
const UNSAFE =
  /(?![\n\t\r])[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}\u{E0000}-\u{E007F}\u200B\uFEFF]/gu
const REPLACEMENT = '\uFFFD'

/** A foreign text: nothing in it acts or hides, and it is no longer than what is read. */
export function bounded(text: string, max = TEXT_CHARS_MAX): string {
  const plain = text.toWellFormed().replace(UNSAFE, REPLACEMENT)
  return plain.length <= max ? plain : `${plain.slice(0, max)}… (${plain.length - max} more characters)`
}

export type ShownContent = {
  readonly content: { readonly type: 'text'; readonly text: string }[]
  readonly structuredContent?: Record<string, unknown>
  readonly isError?: true
}

/** An answer for an agent: as text, and as data where it is not too long. What others wrote in it is data, never words of ours. */
export function shownAnswer(body: unknown, paid: string | null): ShownContent {
  const data = eachText(body, (text) => bounded(text))
  const text = JSON.stringify(data) ?? 'null'
  const said = paid === null ? [] : [{ type: 'text' as const, text: paid }]
  if (text.length > ANSWER_CHARS_MAX) {
    const note = `The answer is longer than ${ANSWER_CHARS_MAX} characters and cut: ask for fewer rows or one record.`
    return { content: [{ type: 'text', text: text.slice(0, ANSWER_CHARS_MAX) }, { type: 'text', text: note }, ...said] }
  }
  return {
    content: [{ type: 'text', text }, ...said],
    structuredContent: isObject(data) ? { ...data } : { result: data },
  }
}

/** A failure for an agent: the sentence, what is known, and the way out. */
export function shownFailure(failure: Failure): ShownContent {
  const told = { ...failure, sentence: bounded(failure.sentence), facts: failure.facts.map((fact) => bounded(fact)) }
  const lines = [told.sentence, ...told.facts, ...told.next.map((command) => `→ ${command}`)]
  const error = eachText(failureFacts(told), (text) => bounded(text))
  return {
    isError: true,
    content: [{ type: 'text', text: lines.join('\n') }],
    structuredContent: { error, next: [...told.next] },
  }
}
