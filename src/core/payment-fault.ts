/**
 * Payment refusals (402): a reason code for each x402 version, and a sentence. `v1` follows the published v1 list, `v2`
 * the `exact` scheme of v2.
 */
const faults = {
  missing: { v1: 'X-PAYMENT header is required', v2: 'Payment required', sentence: 'This request needs a payment.' },
  malformed: {
    v1: 'invalid_payload',
    v2: 'invalid_payload',
    sentence: 'The payment header is not the base64 of a well-formed x402 payment.',
  },
  version_unsupported: {
    v1: 'invalid_x402_version',
    v2: 'invalid_x402_version',
    sentence: 'X-PAYMENT carries x402Version 1 and PAYMENT-SIGNATURE carries x402Version 2.',
  },
  scheme_unsupported: {
    v1: 'unsupported_scheme',
    v2: 'invalid_exact_evm_scheme',
    sentence: 'Only the scheme "exact" is accepted.',
  },
  network_mismatch: {
    v1: 'invalid_network',
    v2: 'invalid_exact_evm_network_mismatch',
    sentence: 'The payment is for another network.',
  },
  requirement_mismatch: {
    v1: 'invalid_payment_requirements',
    v2: 'invalid_payment_requirements',
    sentence: 'The accepted entry differs from the offer of this request.',
  },
  asset_mismatch: {
    v1: 'invalid_payment_requirements',
    v2: 'invalid_payment_requirements',
    sentence: 'The payment is for another token.',
  },
  domain_missing: {
    v1: 'invalid_exact_evm_payload_signature',
    v2: 'invalid_exact_evm_missing_eip712_domain',
    sentence: 'The accepted entry has no extra.name or extra.version of the token.',
  },
  domain_name_mismatch: {
    v1: 'invalid_exact_evm_payload_signature',
    v2: 'invalid_exact_evm_token_name_mismatch',
    sentence: 'The token name in the accepted entry differs from the offer.',
  },
  domain_version_mismatch: {
    v1: 'invalid_exact_evm_payload_signature',
    v2: 'invalid_exact_evm_token_version_mismatch',
    sentence: 'The token version in the accepted entry differs from the offer.',
  },
  recipient_mismatch: {
    v1: 'invalid_exact_evm_payload_recipient_mismatch',
    v2: 'invalid_exact_evm_recipient_mismatch',
    sentence: 'The authorization pays the wrong wallet.',
  },
  amount_mismatch: {
    v1: 'invalid_exact_evm_payload_authorization_value',
    v2: 'invalid_exact_evm_payload_authorization_value_mismatch',
    sentence: 'The authorised value must equal the price.',
  },
  not_yet_valid: {
    v1: 'invalid_exact_evm_payload_authorization_valid_after',
    v2: 'invalid_exact_evm_payload_authorization_valid_after',
    sentence: 'The authorization is not valid yet: validAfter is in the future.',
  },
  expired: {
    v1: 'invalid_exact_evm_payload_authorization_valid_before',
    v2: 'invalid_exact_evm_payload_authorization_valid_before',
    sentence: 'The authorization has expired, or leaves too little time to settle: sign a new one.',
  },
  signature_invalid: {
    v1: 'invalid_exact_evm_payload_signature',
    v2: 'invalid_exact_evm_signature',
    sentence: 'The signature does not match the paying wallet and this authorization.',
  },
  signature_length: {
    v1: 'invalid_exact_evm_payload_signature',
    v2: 'invalid_exact_evm_signature',
    sentence: 'The signature must be 65 bytes: r, s and v.',
  },
  signature_high_s: {
    v1: 'invalid_exact_evm_payload_signature',
    v2: 'invalid_exact_evm_signature',
    sentence: 'The s value of the signature is in the upper half of the curve order, which the token rejects.',
  },
  smart_wallet_unsupported: {
    v1: 'invalid_exact_evm_payload_undeployed_smart_wallet',
    v2: 'eip6492_factory_not_allowed',
    sentence: 'Signatures of wallets that are not deployed yet (ERC-6492) are not accepted.',
  },
  insufficient_funds: {
    v1: 'insufficient_funds',
    v2: 'invalid_exact_evm_insufficient_balance',
    sentence: 'The wallet cannot cover the price and its open payments.',
  },
  nonce_used: {
    v1: 'invalid_transaction_state',
    v2: 'invalid_exact_evm_nonce_already_used',
    sentence: 'This authorization was already used or cancelled: sign a new one.',
  },
  payer_blocked: {
    v1: 'invalid_transaction_state',
    v2: 'invalid_exact_evm_transaction_failed',
    sentence: 'The issuer of the token has blocked the paying wallet: pay from another one.',
  },
  settlement_failed: {
    v1: 'invalid_transaction_state',
    v2: 'invalid_exact_evm_transaction_failed',
    sentence: 'The chain rejected the transfer; nothing was delivered.',
  },
  settlement_pending: {
    v1: 'unexpected_settle_error',
    v2: 'settlement_pending',
    sentence: 'The transfer is not confirmed yet: send the same payment again to get the response.',
  },
  duplicate_settlement: {
    v1: 'duplicate_settlement',
    v2: 'duplicate_settlement',
    sentence: 'The result of this authorization was already returned: sign a new one.',
  },
  payee_not_served: {
    v1: 'invalid_payment_requirements',
    v2: 'invalid_payment_requirements',
    sentence: 'This facilitator does not settle payments to this payTo.',
  },
  self_payment: {
    v1: 'invalid_payment_requirements',
    v2: 'invalid_payment_requirements',
    sentence: 'The paying wallet is also the payee; such payments are not settled.',
  },
  value_too_small: {
    v1: 'invalid_payment_requirements',
    v2: 'invalid_payment_requirements',
    sentence: 'The value is below the minimum of this facilitator.',
  },
  wallet_blocked: {
    v1: 'invalid_payment',
    v2: 'invalid_payment',
    sentence: 'The payer or the payee is on a sanctions list; nothing was paid.',
  },
  chain_unavailable: {
    v1: 'unexpected_verify_error',
    v2: 'unexpected_verify_error',
    sentence: 'The chain did not answer: send the same payment again shortly.',
  },
} as const satisfies Record<string, { v1: string; v2: string; sentence: string }>

export type PaymentFault = keyof typeof faults
export type PaymentFaultFacts = { v1: string; v2: string; sentence: string }

export const paymentFaults: Readonly<Record<PaymentFault, PaymentFaultFacts>> = faults

/** Reason code in the payer's x402 version. */
export function faultReason(fault: PaymentFault, version: 1 | 2): string {
  return version === 1 ? faults[fault].v1 : faults[fault].v2
}
