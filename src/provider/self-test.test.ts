import { expect, test } from 'vitest'
import { buyOnce, NoPractice } from './self-test.ts'

test('practice never pays real money, and says which network asks for it', async () => {
  const stage = { url: 'http://127.0.0.1:9', adminKey: '', wall: () => 0 }
  const asked = { modes: ['sandbox', 'base'], service: 'svc_1', price: '0.10', input: {} }
  const refused = new NoPractice('base has no test money, and practice never pays real money')
  await expect(buyOnce(stage, asked)).rejects.toEqual(refused)
})
