import { describeScenarios } from '../../../fixtures/scenarios/run.ts'
import { listingScenarios } from './scenarios.testkit.ts'

describeScenarios('Discovery and listings', listingScenarios)
