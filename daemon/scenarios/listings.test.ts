import { listingScenarios } from '../../fixtures/scenarios/listings.ts'
import { purchaseScenarios } from '../../fixtures/scenarios/purchases.ts'
import { describeScenarios } from '../../fixtures/scenarios/run.ts'

describeScenarios('Discovery and listings', [...listingScenarios, ...purchaseScenarios])
