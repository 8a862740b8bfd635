import { parseSignature, serializeSignature } from 'viem'
import { describe, expect, test } from 'vitest'
import { domainSeparator } from '../../../../../src/core/authorization.ts'
import { type Hex, toWallet } from '../../../../../src/core/hex.ts'
import { accountAt, type Contract, devAccounts, onTestChain, type TestChain } from '../anvil/anvil.testkit.ts'
import { contracts } from './artifacts.testkit.ts'
import { cancelled, nonceOf, signed, wordsOf } from './token.testkit.ts'
import { walletContracts } from './wallets/artifacts.testkit.ts'

const [owner, payer, payee, stranger] = [0, 1, 2, 3].map(accountAt) as [Hex, Hex, Hex, Hex]
const payerKey = devAccounts[1]
const FUNDS = 1_000_000n
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

const stage = onTestChain(async (chain) => {
  const token = await chain.deploy(contracts.testToken, ['USD Coin', '2', owner])
  await chain.attempt({ from: owner, to: token, name: 'mint', args: [payer, FUNDS] })
  return { token }
})

async function balances(...accounts: readonly Hex[]): Promise<unknown[]> {
  const { chain, token } = stage()
  return Promise.all(accounts.map((account) => chain.read(token, 'balanceOf', [account])))
}

/** @returns the error, or undefined when it went through. */
async function tried(from: Hex, name: string, args: readonly unknown[]) {
  const { chain, token } = stage()
  const outcome = await chain.attempt({ from, to: token, name, args })
  return outcome.ok ? undefined : outcome.error
}

/** An authorization of the payer, with what differs from a good one. */
async function order(changes: Partial<Parameters<typeof signed>[1]> = {}, key = payerKey) {
  const { token } = stage()
  return signed(token.address, { from: payer, to: payee, value: 100n, ...changes }, key)
}

async function chainNow(chain: TestChain): Promise<bigint> {
  return (await chain.client.getBlock()).timestamp
}

const moves = ['transferWithAuthorization', 'receiveWithAuthorization'] as const
const forms = ['words', 'bytes'] as const

describe.each(moves)('%s', (name) => {
  const primaryType = name === 'transferWithAuthorization' ? 'TransferWithAuthorization' : 'ReceiveWithAuthorization'

  test.each(forms)('moves the signed value once, with the signature as %s', async (form) => {
    const { args, signature } = await order({ primaryType })
    const call = [...args, ...(form === 'bytes' ? [signature] : wordsOf(signature))]
    expect(await tried(payee, name, call)).toBeUndefined()
    expect(await balances(payer, payee)).toEqual([FUNDS - 100n, 100n])
    expect(await tried(payee, name, call)).toBe('FiatTokenV2: authorization is used or canceled')
    expect(await balances(payer, payee)).toEqual([FUNDS - 100n, 100n])
  })

  test('takes no signature that was made for the other way', async () => {
    const other = name === 'transferWithAuthorization' ? 'ReceiveWithAuthorization' : 'TransferWithAuthorization'
    const { args, signature } = await order({ primaryType: other })
    expect(await tried(payee, name, [...args, signature])).toBe('FiatTokenV2: invalid signature')
  })
})

describe('an authorization that does not hold is refused by its own reason, and moves nothing', () => {
  const name = 'transferWithAuthorization'
  const changed: readonly [string, Partial<Parameters<typeof signed>[1]>, string][] = [
    ['too much', { value: FUNDS + 1n }, 'ERC20: transfer amount exceeds balance'],
    ['not yet', { validAfter: 2n ** 40n }, 'FiatTokenV2: authorization is not yet valid'],
    ['over', { validBefore: 1n }, 'FiatTokenV2: authorization is expired'],
    ['to nobody', { to: `0x${'00'.repeat(20)}` }, 'ERC20: transfer to the zero address'],
  ]
  test.each(changed)('%s', async (_, changes, reason) => {
    const { args, signature } = await order(changes)
    expect(await tried(stranger, name, [...args, signature])).toBe(reason)
    expect(await tried(stranger, name, [...args, ...wordsOf(signature)])).toBe(reason)
    expect(await balances(payer)).toEqual([FUNDS])
  })

  test('at the very second of either end', async () => {
    const { chain } = stage()
    const at = (await chainNow(chain)) + 100n
    const early = await order({ validAfter: at })
    const late = await order({ validBefore: at })
    await chain.client.setNextBlockTimestamp({ timestamp: at })
    await chain.client.mine({ blocks: 1 })
    // The call is asked at the newest block's time.
    expect(await tried(stranger, name, [...early.args, early.signature])).toContain('not yet valid')
    expect(await tried(stranger, name, [...late.args, late.signature])).toContain('is expired')
  })

  const bad: readonly [string, (signature: Hex) => Hex, string][] = [
    ['the twin with a high s', highTwin, "ECRecover: invalid signature 's' value"],
    ['v of 0 or 1', (signature) => withLastByte(signature, Number(`0x${signature.slice(-2)}`) - 27), "'v' value"],
    ['v of 29', (signature) => withLastByte(signature, 29), "ECRecover: invalid signature 'v' value"],
    ['64 bytes', (signature) => signature.slice(0, -2) as Hex, 'ECRecover: invalid signature length'],
    ['66 bytes', (signature) => `${signature}00`, 'ECRecover: invalid signature length'],
    ['no point of the curve', (signature) => `0x${'00'.repeat(31)}05${signature.slice(66)}`, 'ECRecover: invalid'],
    ['another value under the signature', (signature) => withByte(signature, 40), 'invalid signature'],
  ]
  test.each(bad)('%s', async (_, change, reason) => {
    const { args, signature } = await order()
    expect(await tried(stranger, name, [...args, change(signature)])).toContain(reason)
    expect(await tried(stranger, name, [...args, signature])).toBeUndefined()
  })

  test('signed by somebody else', async () => {
    const { args, signature } = await order({}, devAccounts[3])
    expect(await tried(stranger, name, [...args, signature])).toBe('FiatTokenV2: invalid signature')
  })

  test('received by somebody else than its payee', async () => {
    const { args, signature } = await order({ primaryType: 'ReceiveWithAuthorization' })
    const reason = 'FiatTokenV2: caller must be the payee'
    expect(await tried(stranger, 'receiveWithAuthorization', [...args, signature])).toBe(reason)
  })
})

describe('a cancelled authorization', () => {
  test.each(forms)('never moves money, with the signature as %s', async (form) => {
    const { token } = stage()
    const { args, signature, nonce } = await order()
    const word = await cancelled(token.address, { authorizer: payer, nonce }, payerKey)
    const cancel = [payer, nonce, ...(form === 'bytes' ? [word] : wordsOf(word))]
    expect(await tried(stranger, 'cancelAuthorization', cancel)).toBeUndefined()
    const reason = 'FiatTokenV2: authorization is used or canceled'
    expect(await tried(stranger, 'transferWithAuthorization', [...args, signature])).toBe(reason)
    expect(await tried(stranger, 'cancelAuthorization', cancel)).toBe(reason)
  })

  test('is cancelled by its payer only', async () => {
    const nonce = nonceOf('mine')
    const word = await cancelled(stage().token.address, { authorizer: payer, nonce }, devAccounts[3])
    expect(await tried(stranger, 'cancelAuthorization', [payer, nonce, word])).toBe('FiatTokenV2: invalid signature')
  })
})

describe('the issuer', () => {
  test('stops everything by a pause, and starts it again', async () => {
    const { args, signature } = await order()
    expect(await tried(owner, 'pause', [])).toBeUndefined()
    expect(await tried(stranger, 'transferWithAuthorization', [...args, signature])).toBe('Pausable: paused')
    expect(await tried(payer, 'transfer', [payee, 1n])).toBe('Pausable: paused')
    expect(await tried(payer, 'approve', [payee, 1n])).toBe('Pausable: paused')
    expect(await tried(owner, 'mint', [payee, 1n])).toBe('Pausable: paused')
    expect(await tried(owner, 'unpause', [])).toBeUndefined()
    expect(await tried(stranger, 'transferWithAuthorization', [...args, signature])).toBeUndefined()
  })

  test.each([
    ['payer', payer],
    ['payee', payee],
  ])('blocks a %s', async (_, blocked) => {
    const { args, signature } = await order()
    const reason = 'Blacklistable: account is blacklisted'
    expect(await tried(owner, 'blacklist', [blocked])).toBeUndefined()
    expect(await tried(stranger, 'transferWithAuthorization', [...args, signature])).toBe(reason)
    expect(await tried(payer, 'transfer', [payee, 1n])).toBe(reason)
    expect(await tried(owner, 'unBlacklist', [blocked])).toBeUndefined()
    expect(await tried(stranger, 'transferWithAuthorization', [...args, signature])).toBeUndefined()
  })

  const acts = [
    ['mint', [stranger, 1n]],
    ['pause', []],
    ['unpause', []],
    ['blacklist', [payer]],
    ['unBlacklist', [payer]],
  ] as const
  test.each(acts)('alone may %s', async (name, args) => {
    expect(await tried(stranger, name, args)).toBe('Ownable: caller is not the owner')
  })

  test('makes money out of nothing, and counts it', async () => {
    expect(await tried(owner, 'mint', [payee, 5n])).toBeUndefined()
    expect(await stage().chain.read(stage().token, 'totalSupply')).toBe(FUNDS + 5n)
    expect(await tried(owner, 'mint', [payee, 0n])).toBe('FiatToken: mint amount not greater than 0')
  })
})

describe('a payer that is a contract', () => {
  async function wallet(artifact: keyof typeof walletContracts, args: readonly unknown[] = []): Promise<Contract> {
    const { chain } = stage()
    const contract = await chain.deploy(walletContracts[artifact], args)
    expect(await tried(owner, 'mint', [contract.address, FUNDS])).toBeUndefined()
    return contract
  }

  test('pays with what its own code agrees to, and with nothing else', async () => {
    const { address } = await wallet('keyWallet', [payer])
    const { args, signature } = await order({ from: address })
    const name = 'transferWithAuthorization'
    expect(await tried(stranger, name, [...args, signature])).toBe('FiatTokenV2: invalid signature')
    expect(await tried(stranger, name, [...args, `${signature}01`])).toBeUndefined()
    expect(await balances(address, payee)).toEqual([FUNDS - 100n, 100n])
  })

  test('is asked also when the signature has the form of a key', async () => {
    const { address } = await wallet('yesWallet')
    const { args, signature } = await order({ from: address })
    expect(await tried(stranger, 'transferWithAuthorization', [...args, ...wordsOf(signature)])).toBeUndefined()
  })

  test('pays nothing by an answer that is none', async () => {
    const { address } = await wallet('longAnswer')
    const { args, signature } = await order({ from: address })
    const reason = 'FiatTokenV2: invalid signature'
    expect(await tried(stranger, 'transferWithAuthorization', [...args, signature])).toBe(reason)
  })
})

describe('as an ERC-20', () => {
  test('an allowance is spent by who has it, and no further', async () => {
    expect(await tried(payer, 'approve', [stranger, 10n])).toBeUndefined()
    expect(await tried(stranger, 'transferFrom', [payer, payee, 6n])).toBeUndefined()
    const reason = 'ERC20: transfer amount exceeds allowance'
    expect(await tried(stranger, 'transferFrom', [payer, payee, 5n])).toBe(reason)
    expect(await tried(stranger, 'transfer', [payee, 1n])).toBe('ERC20: transfer amount exceeds balance')
    expect(await balances(payer, payee)).toEqual([FUNDS - 6n, 6n])
  })

  test('its domain is what wallets sign for, and is known before it is deployed', async () => {
    const { chain, token } = stage()
    const read = (name: string) => chain.read(token, name)
    const [name, version, decimals] = await Promise.all(['name', 'version', 'decimals'].map(read))
    expect({ name, version, decimals }).toEqual({ name: 'USD Coin', version: '2', decimals: 6 })
    const domain = { name: 'USD Coin', version: '2', chainId: 31_337, verifyingContract: toWallet(token.address) }
    expect(await read('DOMAIN_SEPARATOR')).toBe(`0x${Buffer.from(domainSeparator(domain)).toString('hex')}`)
  })

  test('its domain moves with its code to another address', async () => {
    const { chain, token } = stage()
    const code = await chain.client.getCode({ address: token.address })
    const address = `0x${'42'.repeat(20)}` as const
    await chain.client.setCode({ address, bytecode: code ?? '0x' })
    expect(await chain.read({ ...token, address }, 'name')).toBe('USD Coin')
    const domain = { name: 'USD Coin', version: '2', chainId: 31_337, verifyingContract: toWallet(address) }
    const separator = `0x${Buffer.from(domainSeparator(domain)).toString('hex')}`
    expect(await chain.read({ ...token, address }, 'DOMAIN_SEPARATOR')).toBe(separator)
  })

  test('its types are those of the standard', async () => {
    const { chain, token } = stage()
    const hashes = {
      TRANSFER_WITH_AUTHORIZATION_TYPEHASH: '0x7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a2267',
      RECEIVE_WITH_AUTHORIZATION_TYPEHASH: '0xd099cc98ef71107a616c4f0f941f04c322d8e254fe26b3c6668db87aae413de8',
      CANCEL_AUTHORIZATION_TYPEHASH: '0x158b0a9edf7a828aad02f63cd515c68ef2f50ba807396f6d12842833a1597429',
    }
    for (const [name, hash] of Object.entries(hashes)) expect(await chain.read(token, name)).toBe(hash)
  })
})

/** The other signature that holds for the same key and digest. */
function highTwin(signature: Hex): Hex {
  const { r, s, yParity } = parseSignature(signature)
  const twin = (CURVE_ORDER - BigInt(s)).toString(16).padStart(64, '0')
  return serializeSignature({ r, s: `0x${twin}`, yParity: 1 - yParity })
}

function withLastByte(signature: Hex, byte: number): Hex {
  return `0x${signature.slice(2, -2)}${byte.toString(16).padStart(2, '0')}`
}

function withByte(signature: Hex, index: number): Hex {
  const bytes = Buffer.from(signature.slice(2), 'hex')
  bytes[index] = (bytes[index] ?? 0) ^ 1
  return `0x${bytes.toString('hex')}`
}
