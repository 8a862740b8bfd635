import type { Link, Outcome } from '../../client/link.ts'
import { person } from '../../nouns/people.ts'
import { safe } from '../../text/text.ts'
import { ask } from '../shell/queries.ts'

/** Objects that match a name: the people, and the numbers of jobs and of conversations. */
export type FoundByName = {
  readonly people: readonly { readonly id: string; readonly name: string; readonly words: string }[]
  readonly jobs: number
  readonly threads: number
}

const nothing: FoundByName = { people: [], jobs: 0, threads: 0 }
const PEOPLE = '5'

/** Fetches the people, jobs and conversations with a name; nothing for an empty name. */
export const fetchNamed =
  (link: Link, filter: string) =>
  async (signal: AbortSignal): Promise<Outcome<FoundByName>> => {
    if (filter === '') return { ok: true, value: nothing }
    const [first, one] = [
      { query: { filter, limit: PEOPLE }, signal },
      { query: { filter, limit: '1' }, signal },
    ]
    const [people, jobs, threads] = await Promise.all([
      ask(link, { name: 'listParticipants', asked: first }, ({ participants }) =>
        participants.map((row) => ({ id: row.id, name: safe(person.nameOf(row)), words: row.type })),
      ),
      ask(link, { name: 'listAllJobs', asked: one }, ({ total }) => total),
      ask(link, { name: 'listAllThreads', asked: one }, ({ total }) => total),
    ])
    const orNone = (found: Outcome<number>) => (found.ok ? found.value : 0)
    return { ok: true, value: { people: people.ok ? people.value : [], jobs: orNone(jobs), threads: orNone(threads) } }
  }
