import { afterAll, beforeAll, expect, test } from 'vitest'
import { joinAsRemote, type RemoteMarket } from '../fixtures/kit/remote-market.ts'
import { devnetOfTests } from '../fixtures/kit/test-chain.ts'
import { openMarketplace } from '../fixtures/market/marketplace.ts'
import { usdc } from '../src/core/money.ts'
import { runningProbes } from '../src/lifecycle/doctor/daemon.ts'

/*
 * Where ETH is dear, what sellers and the operator are told of a price whose fee does not pay the gas.
 * @slow a real chain
 */

const DEAR = usdc(1_000_000_000_000n)
let shop: RemoteMarket
beforeAll(async () => {
  shop = await joinAsRemote(await openMarketplace({ ...(await devnetOfTests()), ethPrice: DEAR }))
  await shop.json(['wallet', 'new', 'ann'])
  await shop.json(['wallet', 'fund', 'ann'])
  await shop.json(['account', 'register', '--role', 'provider', '--as', 'ann'])
})
afterAll(() => shop?.market.close())

test('a seller learns it from the new listing, the operator from the doctor', async () => {
  const fields = ['name=Cheap', 'description=Cheap', 'price=0.001', 'fulfillment_type=automated']
  const { code, out } = await shop.souk(['services', 'create', ...fields.flatMap((field) => ['--set', field])])
  expect(code).toBe(0)
  expect(out).toMatch(/below \$[\d.]+, the gas of a sale costs the marketplace more than its fee/)
  // The doctor asks the daemon of this machine; here it asks the one of this process.
  const session = async () => ({ call: async () => shop.json(['chain', 'costs']) })
  const prices = runningProbes.find(({ id }) => id === 'prices')
  expect(
    await prices?.look({ session } as never, {
      state: 'absent',
    }),
  ).toEqual({
    status: 'warning',
    detail: expect.stringMatching(/^\d+ listings cost more gas than their fee, such as ".+" below \$[\d.]+$/),
    fix: 'souk chain costs',
  })
})

test('gas that costs more than the fees of the day is an alarm', async () => {
  const { items } = await shop.json(['attention'])
  expect(items.filter(({ kind }: { kind: string }) => kind === 'chain')).toMatchObject([
    {
      sentence: expect.stringMatching(/^Gas of the last 24 hours cost \$[\d.]+, and fees earned \$[\d.]+\.$/),
      fix: 'souk chain costs',
    },
  ])
})
