import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runLine, shellWords } from '../fixtures/kit/command-line.testkit.ts'
import { type Marketplace, openMarketplace } from '../fixtures/market/marketplace.ts'
import { groups } from '../src/cli/run/groups.ts'
import { entries } from './index.ts'

/* Two people with homes of their own and a remote: the second one types nothing but what the last answer suggested. */

let market: Marketplace
const homes: string[] = []
beforeAll(async () => {
  market = await openMarketplace()
})
afterAll(async () => {
  await market.close()
  for (const home of homes) await rm(home, { recursive: true, force: true })
})

type Person = {
  readonly home: string
  /** Types a line on a terminal. @returns what was said, and what was suggested */
  readonly types: (line: string) => Promise<{ said: string; next: readonly string[] }>
  /** Types the suggestion of the last answer that matches. */
  readonly follows: (wanted: RegExp) => Promise<string>
}

async function person(): Promise<Person> {
  const home = await mkdtemp(join(tmpdir(), 'souk-hints-'))
  homes.push(home)
  await mkdir(join(home, 'tmp'))
  const env = {
    HOME: home,
    PATH: process.env.PATH ?? '',
    TMPDIR: join(home, 'tmp'),
    NO_COLOR: '1',
    CI: '1', // no spinner: the terminal of the test cannot draw one

    XDG_RUNTIME_DIR: '',
  }
  let last: readonly string[] = []
  const types: Person['types'] = async (line) => {
    const next: string[] = []
    const [, ...words] = shellWords(line)
    const options = { env, now: () => Date.now(), columns: 200, onHint: (hint: string) => void next.push(hint) }
    const { out, err } = await runLine({ entries, groups }, words, options)
    for (const hint of next) expect(out + err).toContain(hint)
    last = next
    return { said: out + err, next }
  }
  return {
    home,
    types,
    async follows(wanted) {
      const found = last.find((line) => wanted.test(line))
      expect(found, `${wanted} is not among ${last.join(' | ')}`).toBeDefined()
      return (await types(found ?? '')).said
    },
  }
}

/** Somebody who sells by hand, from a home of its own. */
async function seller(): Promise<{ who: Person; service: string }> {
  const who = await person()
  await who.types(`souk remote add shop ${market.url()}`)
  for (const line of [
    'remote use shop',
    'wallet new house',
    'wallet fund',
    'account register --role provider --name Ada',
  ])
    await who.types(`souk ${line}`)
  const set = ['name=Proofreading', 'description=Reads.', 'price=0.50', 'fulfillment_type=human']
  const listed = await who.types(`souk services create ${set.map((one) => `--set ${one}`).join(' ')} --json`)
  const [service = ''] = /svc_[0-9a-f]{16}/.exec(listed.said) ?? []
  expect(service).not.toBe('')
  return { who, service }
}

async function deliver(who: Person, job: string): Promise<void> {
  const file = join(who.home, 'deliverable.json')
  await writeFile(file, JSON.stringify({ text: 'read' }))
  expect((await who.types(`souk jobs update ${job} --deliverable ${file}`)).said).toContain('completed')
}

test('the second one is funded, buys, rates, disputes and withdraws by what is suggested', async () => {
  const { who: ada, service } = await seller()
  const ben = await person()
  const flags = '-r shop --as ben'
  await ben.types(`souk remote add shop ${market.url()}`)
  await ben.types(`souk wallet new ben -r shop`)
  expect(await ben.follows(/^souk wallet fund ben/)).toContain('received $10.00')
  expect(await ben.follows(/^souk services list/)).toContain('Proofreading')

  await ben.types(`souk services view ${service} ${flags}`)
  expect(await ben.follows(/^souk buy .* --quote/)).toContain('nothing was paid')
  const bought = await ben.follows(/^souk buy (?!.*--quote)/)
  const [job = ''] = /job_[0-9a-f]{16}/.exec(bought) ?? []
  expect(await ben.follows(/^souk jobs view/)).toContain(job)
  await deliver(ada, job)
  await ben.types(`souk jobs view ${job} ${flags}`)
  expect(await ben.follows(/^souk jobs verify .* --rating 5 .*--remote shop/)).toContain('verified')

  const started = await ben.types(`souk buy ${service} ${flags} --wait=100ms`)
  expect(started.said).toContain('dispatched')
  expect(started.said).not.toContain('[]')
  const viewed = await ben.follows(/^souk jobs view/)
  const [other = ''] = /job_[0-9a-f]{16}/.exec(viewed) ?? []
  await deliver(ada, other)
  await ben.types(`souk jobs view ${other} ${flags}`)
  expect(await ben.follows(/^souk jobs dispute .* --reason/)).toContain('disputed')

  await ben.types(`souk balance ${flags}`)
  expect(await ben.follows(/^souk account register/)).toContain('registered')
  expect(await ben.follows(/^souk balance deposit/)).toContain('credited')
  expect(await ben.follows(/^souk balance withdraw/)).toContain('is on its way to')
  expect(await ben.follows(/^souk balance history/)).toContain('withdrawal')
})

test('what is suggested says again where, as whom and in which instance', async () => {
  const ben = await person()
  await ben.types(`souk remote add far ${market.url()}`)
  await ben.types('souk wallet new ben')
  const { next } = await ben.types('souk balance -r far --as ben')
  expect(next).toEqual(['souk account register --remote far --as ben'])
  const at = await ben.types('souk services view no-such-thing --instance other')
  expect(at.next).toEqual(['souk up --instance other'])
})
