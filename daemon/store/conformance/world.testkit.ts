import { z } from 'zod'
import { Micro } from '../../../src/core/codecs.ts'
import { type Usdc, usdc } from '../../../src/core/money.ts'
import { type AnyCollection, defineCollection, type Store, type Tx } from '../port.ts'

/** An engine under test: opens an empty store over the collections given. */
export type EngineUnderTest = {
  readonly name: string
  open(
    collections: readonly AnyCollection[],
    options?: { readonly watchdogMs?: number },
  ): Promise<{ readonly store: Store; readonly end: () => Promise<void> }>
}

export const accounts = defineCollection('accounts', {
  schema: z.object({
    id: z.string(),
    version: z.number(),
    owner: z.string(),
    balance: Micro,
    sales: z.number(),
    open: z.boolean(),
    email: z.string().nullable(),
    note: z.string().optional(),
  }),
  indexes: [
    { name: 'owner', fields: ['owner', 'balance'] },
    { name: 'richest', fields: ['balance'], order: 'desc' },
    { name: 'email', fields: ['email'], unique: true },
    { name: 'open', fields: ['owner'], where: { field: 'open', equals: true } },
    { name: 'noted', fields: ['owner'], where: { field: 'note', present: true } },
  ],
})

/** A row whose bigints hide where a text form loses them. */
export const deeds = defineCollection('deeds', {
  schema: z.object({
    id: z.string(),
    version: z.number(),
    postings: z.array(z.object({ account: z.string(), delta: z.bigint() })),
    totals: z.record(z.string(), z.bigint()),
    limit: z.bigint().nullable(),
    fee: z.bigint().optional(),
    target: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('split'), shares: z.array(z.bigint()) }),
      z.object({ kind: z.literal('none'), digits: z.string() }),
    ]),
    anything: z.json(),
  }),
  indexes: [],
})

export const collectionsUnderTest: readonly AnyCollection[] = [accounts, deeds]

export type Account = z.infer<typeof accounts.schema>

/** An account with everything that a case does not care about. */
export function account(id: string, facts: Partial<Omit<Account, 'version'>> = {}): Omit<Account, 'version'> {
  return { id, owner: 'ann', balance: usdc(0n), sales: 0, open: true, email: null, ...facts }
}

export function micro(amount: number): Usdc {
  return usdc(BigInt(amount))
}

const discarded = new Error('the first run of every body is discarded')

/** Runs every transaction body twice and keeps the second run, as an engine that retries may. */
export function rerunning(store: Store): Store {
  async function discardOnce<T>(body: (t: Tx) => Promise<T>): Promise<void> {
    try {
      await store.tx(async (t) => {
        await body(t)
        throw discarded
      })
    } catch (error) {
      if (error !== discarded) throw error
    }
  }
  return {
    ...store,
    tx: async (body) => {
      await discardOnce(body)
      return store.tx(body)
    },
  }
}

/** Inserts accounts in one transaction. */
export function seed(store: Store, rows: readonly Omit<Account, 'version'>[]): Promise<void> {
  return store.tx(async (t) => {
    for (const row of rows) await t.table(accounts).insert(row)
  })
}

/** The ids of all accounts of an owner, in index order. */
export async function idsOf(store: Store, index: string, prefix: readonly string[]): Promise<string[]> {
  const { rows } = await store.table(accounts).page(index, prefix, { limit: 100 })
  return rows.map((row) => row.id)
}
