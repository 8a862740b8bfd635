import { randomBytes } from 'node:crypto'
import { inputRequired, inputResponse } from '@modelcontextprotocol/server'
import { dropOldest } from '../core/record.ts'
import { bounded } from './shown.ts'

/** Questions that wait for an answer; the oldest are given up. */
const WAITING_MAX = 100
const ID_BYTES = 12
const QUESTION_CHARS_MAX = 500

/** What a person has to say before a tool goes on: the call ends with the question, and comes again with the answer. */
export class AskFirst extends Error {
  override readonly name = 'AskFirst'
  readonly question: string
  constructor(question: string) {
    super(question)
    this.question = question
  }
}

export type Answers = Readonly<Record<string, unknown>> | undefined

export type Approvals = {
  /** What was said to a question, which is used up by it. @throws AskFirst where nothing was said yet */
  said(question: string, answers: Answers): boolean
  /** The answer of a tool that asks. */
  asking(question: string): ReturnType<typeof inputRequired>
}

/**
 * A yes is good for one payment, of the price and to the payee that the question names: it is kept under a name that
 * nobody can guess, and struck out when it is used.
 */
export function createApprovals(): Approvals {
  const waiting = new Map<string, string>()
  return {
    said(question, answers) {
      const id = Object.keys(answers ?? {}).find((one) => waiting.get(one) === question)
      if (id === undefined) throw new AskFirst(question)
      waiting.delete(id)
      const said = inputResponse(answers, id)
      return said.kind === 'elicit' && said.action === 'accept' && said.content?.agree === true
    },
    asking(question) {
      if (waiting.size >= WAITING_MAX) dropOldest(waiting)
      const id = randomBytes(ID_BYTES).toString('hex')
      waiting.set(id, question)
      const requestedSchema = {
        type: 'object' as const,
        properties: { agree: { type: 'boolean' as const, title: 'Pay it', default: false } },
        required: ['agree'],
      }
      const message = bounded(question, QUESTION_CHARS_MAX)
      return inputRequired({ inputRequests: { [id]: inputRequired.elicit({ message, requestedSchema }) } })
    },
  }
}
