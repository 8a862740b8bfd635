import { listingScenarios } from '../../fixtures/scenarios/listings.ts'
import { namedScenarios } from '../../fixtures/scenarios/named.ts'
import { purchaseScenarios } from '../../fixtures/scenarios/purchases.ts'
import { describeScenarios } from '../../fixtures/scenarios/run.ts'

describeScenarios('Discovery and listings', [...listingScenarios, ...purchaseScenarios])
describeScenarios('Named services', namedScenarios)
