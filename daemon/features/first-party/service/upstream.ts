import { AppError } from '../../../../src/core/error.ts'
import { UpstreamError } from '../../../ports/upstream/upstream.ts'
import { wrongField } from './service.ts'

/**
 * Converts upstream errors to errors for the buyer; rethrows other errors.
 * @param field - the input field at fault when the upstream refuses the query
 */
export async function fromUpstream<T>(asked: Promise<T>, field?: string): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error
    if (error.failure === 'asker' && field !== undefined) throw wrongField(field, error.message, error)
    throw new AppError('provider_failed', error.message, { cause: error })
  }
}
