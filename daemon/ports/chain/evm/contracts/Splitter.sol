// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// Divides what lies in it among payees that are fixed for ever. Shares are floored; what is left over waits for the next
/// time.
contract Splitter {
    using SafeERC20 for IERC20;

    uint256 public constant WHOLE = 1_000_000;
    uint256 public constant MOST_PAYEES = 32;

    address[] public payees;
    uint256[] public shares;

    event Distributed(address indexed token, address indexed payee, uint256 amount);

    error BadShares();
    error Nothing();

    constructor(address[] memory payees_, uint256[] memory shares_) {
        if (payees_.length != shares_.length || payees_.length > MOST_PAYEES) revert BadShares();
        uint256 sum = 0;
        for (uint256 i = 0; i < payees_.length; i++) {
            bool valid = payees_[i] != address(0) && payees_[i] != address(this) && shares_[i] > 0;
            if (!valid || shares_[i] > WHOLE) revert BadShares();
            sum += shares_[i];
        }
        if (sum != WHOLE) revert BadShares();
        payees = payees_;
        shares = shares_;
    }

    /// Anyone's call. @return paid what left in all
    function distribute(IERC20 token) external returns (uint256 paid) {
        uint256 balance = token.balanceOf(address(this));
        for (uint256 i = 0; i < payees.length; i++) {
            uint256 amount = (balance * shares[i]) / WHOLE;
            if (amount == 0) continue;
            paid += amount;
            emit Distributed(address(token), payees[i], amount);
            token.safeTransfer(payees[i], amount);
        }
        if (paid == 0) revert Nothing();
    }
}
