import { testLawsOf } from "./law-tests.js";

testLawsOf("token-bucket");
testLawsOf("leaky-bucket");
