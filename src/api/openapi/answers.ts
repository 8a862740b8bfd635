import type { EndpointName } from '../index.ts'

/** What an endpoint really answered, with what it asked for first where it is paid. Made by `npm run docs`. */
export type AnswerExample = { readonly answer?: unknown; readonly offer?: unknown }

export type AnswerExamples = { [N in EndpointName]?: AnswerExample }

/** A file of its own, read when somebody first asks for the description. */
export async function readAnswerExamples(): Promise<AnswerExamples> {
  const { default: examples } = await import('../answer-examples.json', { with: { type: 'json' } })
  return examples
}
