import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { StoreMisuse } from '../errors.ts'
import { bodyCases } from './bodies.testkit.ts'
import { modelCases } from './model.testkit.ts'
import { pageCases } from './pages.testkit.ts'
import { rowCases } from './rows.testkit.ts'
import type { UseStore } from './use-store.testkit.ts'
import { account, accounts, collectionsUnderTest, type EngineUnderTest, rerunning } from './world.testkit.ts'

const WATCHDOG_MS = 40

/**
 * Everything the port promises. A further engine passes it by one test file of its own:
 * `conformance({ name, open })`.
 */
export function conformance(engine: EngineUnderTest): void {
  describe(`${engine.name} keeps the promises of the port`, () => {
    let opened: Awaited<ReturnType<EngineUnderTest['open']>> | undefined
    beforeEach(async () => {
      opened = await engine.open(collectionsUnderTest)
    })
    afterEach(async () => {
      await opened?.end()
    })
    const use: UseStore = () => {
      if (opened === undefined) throw new Error('no store is open')
      return rerunning(opened.store)
    }

    rowCases(use)
    pageCases(use)
    bodyCases(use)
    modelCases(use)
  })

  test(`${engine.name} gives up on a body that does not settle, and goes on`, async () => {
    const { store, end } = await engine.open(collectionsUnderTest, { watchdogMs: WATCHDOG_MS })
    const never = Promise.withResolvers<never>()
    const stuck = store.tx(async (t) => {
      await t.table(accounts).insert(account('a'))
      return never.promise
    })
    const next = store.tx((t) => t.table(accounts).insert(account('b')))
    await expect(stuck).rejects.toThrow(StoreMisuse)
    expect(await next).toMatchObject({ id: 'b' })
    expect(await store.table(accounts).get('a')).toBeUndefined()
    await end()
  })
}
