import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { toBytes, keccak256 as viemKeccak } from 'viem'
import { describe, expect, test } from 'vitest'
import { toWallet } from '../../../src/core/hex.ts'
import { digestOf } from '../../kernel/canonical.ts'
import { type EvidenceEntry, evidenceDocument, MAX_ENTRIES, totalOf } from './evidence.ts'
import { feedbackFile } from './reputation.ts'
import type { JobFacts, Sums } from './rows.ts'
import { NO_JOBS, plus, standingOf, sumsOf } from './score.ts'

const delivered: JobFacts = {
  outcome: 'delivered',
  dispute: 'none',
  rating: 5,
  taken_ms: 1_800_000,
  estimate_ms: 3_600_000,
  response_ms: 60_000,
}
const late: JobFacts = { ...delivered, rating: null, taken_ms: 5_400_000, dispute: 'recorded' }
const failed: JobFacts = { ...delivered, outcome: 'failed', rating: null, taken_ms: null, response_ms: null }

const entry = (number: number, facts: JobFacts, replaces: Sums | null = null): EvidenceEntry => ({
  id: `job_${number.toString(16).padStart(16, '0')}`,
  service_type: 'human_service',
  facts,
  sums: sumsOf(facts),
  replaces,
})

const before = plus(sumsOf(delivered), sumsOf(delivered))
const evidence = {
  subjectId: 'p_0123456789abcdef',
  previous: `0x${'ab'.repeat(32)}`,
  before,
  entries: [entry(1, delivered), entry(2, failed), entry(3, late, sumsOf(delivered))],
  issuedAt: Date.UTC(2026, 10, 21, 14, 3),
} as const

const feedback = {
  agentRegistry: `eip155:8453:0x${'12'.repeat(20)}`,
  agentId: '0',
  chainId: 8453,
  client: toWallet(`0x${'ab'.repeat(20)}`),
  serviceType: 'data_api',
  sums: sumsOf(late),
  createdAt: Date.UTC(2026, 10, 21, 14, 3),
} as const

/** Documents are on a chain by their hash: what code makes of the same facts may never change. */
const golden = {
  'evidence.json': () => evidenceDocument(evidence),
  'feedback.json': () => feedbackFile(feedback),
} as const

describe.each(Object.entries(golden))('%s', (name, made) => {
  const path = new URL(`../../../fixtures/reputation/${name}`, import.meta.url)

  test('is made byte by byte as it was first made', () => {
    expect(made().text).toBe(readFileSync(path, 'utf8'))
  })

  test('is canonical, and named by the keccak-256 of its bytes', () => {
    const { text, hash } = made()
    expect(digestOf(JSON.parse(text))).toEqual({ text, hash })
    expect(hash).toBe(viemKeccak(toBytes(text)))
    expect(hash).toBe(viemKeccak(readFileSync(path)))
  })
})

test('canonical bytes are those of the examples of RFC 8785', () => {
  const numbers = [Number('333333333.33333329'), 1e30, 4.5, 2e-3, 0.000000000000000000000000001]
  const text =
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
  expect(
    digestOf({
      numbers,
      string: "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\u0022\u002f",
      literals: [null, true, false],
    }).text,
  ).toBe(text)
})

test('evidence names jobs by hash and holds nothing that was said', () => {
  const { text } = evidenceDocument(evidence)
  expect(text).not.toContain('job_')
  const { jobs } = JSON.parse(text)
  expect(jobs.map(({ job }: { job: string }) => job)).toEqual(evidence.entries.map(({ id }) => viemKeccak(toBytes(id))))
})

test('a document adds up to what came before and its entries, less what they replace', () => {
  const facts = fc.constantFrom(delivered, late, failed)
  const jobs = fc.array(fc.record({ facts, replaced: fc.option(facts) }), { maxLength: MAX_ENTRIES })
  fc.assert(
    fc.property(jobs, (given) => {
      const entries = given.map(({ facts: of, replaced }, i) => entry(i, of, replaced && sumsOf(replaced)))
      const replaced = entries.flatMap(({ replaces }) => replaces ?? [])
      const total = totalOf({ before: plus(before, replaced.reduce(plus, NO_JOBS)), entries })
      expect(total).toEqual(entries.map(({ sums }) => sums).reduce(plus, before))
    }),
  )
  expect(JSON.parse(evidenceDocument(evidence).text).score).toBe(standingOf(totalOf(evidence)).score)
})

test('a feedback file with an id beyond what JSON numbers hold keeps every digit', () => {
  const agentId = '115792089237316195423570985008687907853269984665640564039457584007913129639935'
  expect(JSON.parse(feedbackFile({ ...feedback, agentId }).text).agentId).toBe(agentId)
  expect(JSON.parse(feedbackFile(feedback).text).agentId).toBe(0)
})
