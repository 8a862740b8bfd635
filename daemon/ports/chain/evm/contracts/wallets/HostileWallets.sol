// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Burns whatever gas it is given when asked for its agreement.
contract GasBurner {
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        uint256 sum;
        while (true) sum++;
        return 0x1626ba7e;
    }
}

/// Agrees to everything.
contract YesWallet {
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        return 0x1626ba7e;
    }
}

/// Answers with more data than anybody wants to copy.
contract LongAnswer {
    fallback() external {
        assembly { revert(0, 100000) }
    }
}
