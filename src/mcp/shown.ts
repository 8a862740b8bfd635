import { eachText } from '../cli/answer.ts'
import { type Failure, failureFacts } from '../cli/failure.ts'
import { isObject } from '../core/json.ts'

/** Longest text shown to an agent. The number of omitted characters is appended. */
const TEXT_CHARS_MAX = 16_384
/** Longest response. */
const ANSWER_CHARS_MAX = 131_072

/** Control characters (except line breaks and tabs), direction marks and invisible characters. */
const UNSAFE =
  /(?![\n\t\r])[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}\u{E0000}-\u{E007F}\u200B\uFEFF]/gu
const REPLACEMENT = '\uFFFD'

/** Sanitises and shortens untrusted text. */
export function bounded(text: string, max = TEXT_CHARS_MAX): string {
  const plain = text.toWellFormed().replace(UNSAFE, REPLACEMENT)
  return plain.length <= max ? plain : `${plain.slice(0, max)}… (${plain.length - max} more characters)`
}

export type ShownContent = {
  readonly content: { readonly type: 'text'; readonly text: string }[]
  readonly structuredContent?: Record<string, unknown>
  readonly isError?: true
}

/** A response for an agent: JSON text, and structured data unless it is too long. */
export function shownAnswer(body: unknown, paid: string | null): ShownContent {
  const data = eachText(body, (text) => bounded(text))
  const text = JSON.stringify(data) ?? 'null'
  const said = paid === null ? [] : [{ type: 'text' as const, text: paid }]
  if (text.length > ANSWER_CHARS_MAX) {
    const note = `The response was cut at ${ANSWER_CHARS_MAX} characters: request fewer rows or one record.`
    return { content: [{ type: 'text', text: text.slice(0, ANSWER_CHARS_MAX) }, { type: 'text', text: note }, ...said] }
  }
  return {
    content: [{ type: 'text', text }, ...said],
    structuredContent: isObject(data) ? { ...data } : { result: data },
  }
}

/** A failure for an agent: message, facts, and the commands that help. */
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
