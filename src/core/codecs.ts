import { z } from 'zod'
import { ADDRESS_SHAPE, BYTES32_SHAPE, checksumAddress, type Hex, toWallet, type Wallet } from './hex.ts'
import { type IdNoun, idPrefixes } from './id-prefixes.ts'
import { formatAmount, formatPrice, parseAmount, type Usdc, usdc, ZERO } from './money.ts'

export function idOf(noun: IdNoun) {
  const prefix = idPrefixes[noun]
  return z
    .string()
    .regex(new RegExp(`^${prefix}[0-9a-f]{16}$`))
    .meta({ description: `${noun} id`, examples: [`${prefix}0123456789abcdef`] })
}

/** An object without further members, under its name in the API's description. */
export function namedObject<T extends z.core.$ZodLooseShape>(id: string, shape: T) {
  return z.strictObject(shape).meta({ id })
}

/** ISO 8601 UTC with milliseconds ⇄ epoch milliseconds (decisions §1). */
export const Time = z
  .codec(z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/), z.int(), {
    decode: (text) => Date.parse(text),
    encode: (ms) => new Date(ms).toISOString(),
  })
  .meta({ id: 'Time', description: 'ISO 8601 UTC with milliseconds', format: 'date-time' })

const isUsdc = z.custom<Usdc>((value) => typeof value === 'bigint')

/** Wire form `"$0.525"` ⇄ micro-USDC. */
export const Price = z
  .codec(z.string().regex(/^-?\$\d{1,12}(\.\d{1,6})?$/), isUsdc, {
    decode: (text) => readSigned(text.replace('$', '')),
    encode: formatPrice,
  })
  .meta({ id: 'Price', description: 'USDC, dollar sign and 2 to 6 decimals', examples: ['$0.525'] })

/** Wire form `"0.525"` ⇄ micro-USDC; negative for debits. */
export const Amount = z
  .codec(z.string().regex(/^-?\d{1,12}(\.\d{1,6})?$/), isUsdc, { decode: readSigned, encode: formatAmount })
  .meta({ id: 'Amount', description: 'USDC as decimal text, 2 to 6 decimals', examples: ['0.525'] })

/** Wire form: JSON dollars with at most 6 decimals, for `…_usd` members (decisions §5). */
export const UsdNumber = z
  .codec(
    z.number().refine((dollars) => parseAmount(String(dollars)) !== undefined, 'must be dollars, at most 6 decimals'),
    isUsdc,
    // String() gives the digits as they were written, without a rounding error.
    { decode: (dollars) => parseAmount(String(dollars)) ?? ZERO, encode: (amount) => Number(formatAmount(amount)) },
  )
  .meta({ id: 'UsdNumber', description: 'USDC as a JSON number', examples: [0.525] })

export function readSigned(text: string): Usdc {
  const negative = text.startsWith('-')
  const amount = parseAmount(negative ? text.slice(1) : text) ?? ZERO
  return negative ? usdc(-amount) : amount
}

/** Row form: bigint in memory, decimal text on disk. */
export const Micro = z.bigint() as unknown as z.ZodType<Usdc> // zod has no branded input; the instance stays a ZodBigInt

/** Wire form: checksummed or single-case; internally lower case. */
export const Address = z
  .codec(
    z.string().regex(ADDRESS_SHAPE),
    z.custom<Wallet>((v) => typeof v === 'string' && ADDRESS_SHAPE.test(v)),
    { decode: toWallet, encode: (wallet) => checksumAddress(wallet) },
  )
  .meta({ id: 'Address', description: 'Ethereum address, EIP-55 checksummed in answers' })

/** 32 bytes hex; internally lower case. */
export const Bytes32 = z
  .codec(
    z.string().regex(BYTES32_SHAPE),
    z.custom<Hex>((v) => typeof v === 'string' && BYTES32_SHAPE.test(v)),
    { decode: (text): Hex => `0x${text.slice(2).toLowerCase()}`, encode: (hex) => hex },
  )
  .meta({ id: 'Bytes32' })

/** Text in a stored row. It was validated before it was written. */
const stored = <T extends string>() => z.string() as unknown as z.ZodType<T>
export const StoredWallet = stored<Wallet>()
export const StoredHex = stored<Hex>()

/** Reference from a row to an uploaded file. */
export const StoredFile = z.strictObject({
  /** SHA-256 of its blob. */
  sha256: z.string(),
  size_bytes: z.int(),
  /** Plain file name. */
  name: z.string(),
  /** Declared type, else `application/octet-stream`. */
  content_type: z.string(),
})
export type StoredFile = z.infer<typeof StoredFile>

const MAX_TAX_CHARS = 300
const TaxText = z.string().trim().max(MAX_TAX_CHARS)

/** Details that a seller prints on receipts and statements. */
export const TaxDetails = namedObject('TaxDetails', {
  name: TaxText.optional(),
  address: TaxText.optional(),
  tax_id: TaxText.optional(),
})
export type TaxDetails = z.infer<typeof TaxDetails>
