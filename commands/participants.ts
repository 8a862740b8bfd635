import type { WireAnswer } from '../src/api/index.ts'
import { defineCall, defineCommand } from '../src/cli/command.ts'
import { columnsOf, PAGE_ROWS_MAX, pageOptions } from '../src/cli/nouns/lists.ts'
import { showParticipant } from '../src/cli/nouns/participants.ts'
import { printRows } from '../src/cli/output.ts'
import { allRows, type NextPage } from '../src/cli/paging.ts'
import * as z from '../src/cli/params.ts'
import { compact } from '../src/core/record.ts'
import { person } from '../src/nouns/people.ts'

export const participantsIdentity = defineCall({
  name: 'participants identity',
  summary: 'print the ERC-8004 registration file of a participant',
  description: 'Works for publicly listed participants. The file is portable: you can host it anywhere.',
  args: z.object({ participant: z.string().meta({ description: 'id, or wallet address' }) }),
  examples: ['souk participants identity p_0123456789abcdef', 'souk participants identity p_0123456789abcdef --json'],
  asks: 'getIdentityFile',
  view: (file, io) => io.line(JSON.stringify(file, null, 2)),
})

type Directory = WireAnswer<'getDirectory'>

const columns = columnsOf(person, 'own')

export const participantsList = defineCommand({
  name: 'participants list',
  summary: 'browse the public directory',
  options: z.object({
    type: z.choice(['agent', 'provider', 'both'], { description: 'only of this kind' }),
    limit: pageOptions.limit,
    cursor: z.text({ description: 'next_cursor of the previous page', value: 'text' }),
    all: z.flag({ description: 'fetch all pages' }),
  }),
  examples: ['souk participants list', 'souk participants list --all', 'souk participants list --type provider --json'],
  async run(context) {
    const { type, limit, cursor, all } = context.options
    const session = await context.session()
    const ask = (rows: number, from?: string) =>
      session.call('getDirectory', { query: { limit: String(rows), ...compact({ type, cursor: from }) } })
    if (!all) return ask(limit, cursor)
    const pages = {
      ask: (at?: NextPage) => ask(PAGE_ROWS_MAX, at && 'cursor' in at ? at.cursor : cursor),
      rowsOf: (page: Directory) => page.participants,
      nextOf: ({ next_cursor: next }: Directory) => (next === null ? undefined : { cursor: next }),
    }
    return { participants: [...(await allRows(pages, ({ id }) => id))], next_cursor: null }
  },
  rows: ({ participants }) => participants,
  columns,
  view({ participants, next_cursor: next }, io) {
    printRows(io, columns, participants)
    if (participants.length === 0) io.note('no participants are listed')
    if (next !== null) io.note(`  next page: --cursor ${next}`)
  },
})

export const participantsProfile = defineCall({
  name: 'participants profile',
  summary: 'show the public profile of a participant: trust, webhook health, identity, links',
  description: 'Works for publicly listed participants. For others use `souk participants view`.',
  args: z.object({ participant: z.string().meta({ description: 'id, or wallet address' }) }),
  examples: ['souk participants profile p_0123456789abcdef', 'souk participants profile p_0123456789abcdef --json'],
  asks: 'getProfile',
  view(profile, io) {
    const { trust, reputation, webhook_health: health, identity, links } = profile
    showParticipant(profile, io)
    const band = reputation.band === null ? '' : `   band ${reputation.band}`
    io.line(`  trust     ${trust.verdict}   ${trust.level} ${trust.level_name}${band}`)
    if (health) io.line(`  webhooks  ${health.healthy_listings} of ${health.listings} listings healthy`)
    io.line(`  identity  ${identity ? `agent ${identity.agent_id} of ${identity.agent_registry}` : '—'}`)
    for (const [name, url] of Object.entries(links)) io.line(`  ${name.padEnd(9)} ${url}`)
  },
})

export const participantsView = defineCall({
  name: 'participants view',
  summary: 'show a participant by id or wallet',
  args: z.object({ participant: z.string().meta({ description: 'id, or wallet address' }) }),
  examples: ['souk participants view p_0123456789abcdef', 'souk participants view p_0123456789abcdef --json'],
  asks: 'getParticipant',
  view: showParticipant,
})
