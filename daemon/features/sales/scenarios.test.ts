import { describeScenarios } from '../../../fixtures/scenarios/run.ts'
import { namedScenarios } from './named-scenarios.testkit.ts'
import { purchaseScenarios } from './scenarios.testkit.ts'

describeScenarios('Purchases', purchaseScenarios)
describeScenarios('Named services', namedScenarios)
