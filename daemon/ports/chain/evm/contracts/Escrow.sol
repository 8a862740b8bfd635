// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";

interface IReceivable {
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external;
}

/// Holds the money of jobs, each under terms that are fixed when it comes in. It leaves to two places only: `payTo`, from
/// where the books pay it on, and that job's own buyer. Pause stops money from coming in and from being released; the
/// buyer's ways out stay open.
contract Escrow is AccessControl, Pausable {
    using SafeERC20 for IERC20;

    struct Terms {
        bytes32 id;
        /// Who is paid by a timeout and in an emergency.
        address buyer;
        /// Where an ordinary refund goes: the buyer, or `payTo` for a buyer who paid from a balance there.
        address refundTo;
        uint128 net;
        uint128 fee;
        /// From then on anyone may send the money back to the buyer, unless the work was delivered or is disputed.
        uint64 deadline;
    }

    struct Deal {
        address buyer;
        uint64 deadline;
        State state;
        /// Delivered or disputed: waiting does not win the money any more.
        bool timeoutClosed;
        address refundTo;
        uint128 net;
        uint128 fee;
        /// What a split gave back.
        uint128 toBuyer;
    }

    enum State {
        None,
        Held,
        Released,
        Refunded,
        Split,
        TimedOut,
        Withdrawn
    }

    bytes32 public constant OPERATOR_ROLE = keccak256("OPERATOR_ROLE");
    bytes32 public constant PAUSER_ROLE = keccak256("PAUSER_ROLE");
    /// No deadline lies further ahead, so that no hand can put a buyer's way out off for ever in one step.
    uint64 public constant LONGEST_WAIT = 180 days;

    IERC20 public immutable token;
    address public immutable payTo;
    uint256 public totalHeld;
    mapping(bytes32 id => Deal) public deals;

    event Deposited(
        bytes32 indexed id, address indexed buyer, address refundTo, uint128 net, uint128 fee, uint64 deadline
    );
    event Released(bytes32 indexed id, uint128 net, uint128 fee);
    event Refunded(bytes32 indexed id, address indexed to, uint256 amount);
    event Resolved(bytes32 indexed id, address indexed to, uint256 toBuyer, uint256 net, uint256 fee);
    event TimedOut(bytes32 indexed id, address indexed buyer, uint256 amount);
    event EmergencyWithdrawn(bytes32 indexed id, address indexed buyer, uint256 amount);
    event Extended(bytes32 indexed id, uint64 deadline);
    event Delivered(bytes32 indexed id);
    event Disputed(bytes32 indexed id);

    error Exists(bytes32 id);
    error NotHeld(bytes32 id, State state);
    error BadTerms();
    error TooEarly(uint64 deadline);
    error TimeoutClosed(bytes32 id);
    error NotParty(address caller);
    error AmountMismatch();

    modifier onlyOperator() {
        if (!hasRole(OPERATOR_ROLE, msg.sender)) revert NotParty(msg.sender);
        _;
    }

    constructor(IERC20 token_, address payTo_, address admin, address operator, address pauser) {
        if (payTo_ == address(0) || payTo_ == address(this) || admin == address(0)) revert BadTerms();
        token = token_;
        payTo = payTo_;
        _grantRole(DEFAULT_ADMIN_ROLE, admin);
        _grantRole(OPERATOR_ROLE, operator);
        _grantRole(PAUSER_ROLE, pauser);
    }

    // --- in ---

    /// The operator's own money, by allowance.
    function deposit(Terms calldata terms) external onlyOperator whenNotPaused {
        uint256 before = token.balanceOf(address(this));
        uint256 amount = _open(terms);
        token.safeTransferFrom(msg.sender, address(this), amount);
        if (token.balanceOf(address(this)) - before != amount) revert AmountMismatch();
    }

    /// Money of whoever signed: the nonce of the authorization is `termsHash`, so that it can fill these terms only, once.
    function depositWithAuthorization(
        Terms calldata terms,
        address from,
        uint256 validAfter,
        uint256 validBefore,
        bytes calldata signature
    ) external onlyOperator whenNotPaused {
        uint256 before = token.balanceOf(address(this));
        uint256 amount = _open(terms);
        IReceivable(address(token)).receiveWithAuthorization(
            from, address(this), amount, validAfter, validBefore, termsHash(terms), signature
        );
        if (token.balanceOf(address(this)) - before != amount) revert AmountMismatch();
    }

    function termsHash(Terms calldata terms) public view returns (bytes32) {
        return keccak256(abi.encode(block.chainid, address(this), terms));
    }

    function _open(Terms calldata terms) private returns (uint256 amount) {
        if (deals[terms.id].state != State.None) revert Exists(terms.id);
        amount = uint256(terms.net) + terms.fee;
        bool refundable = terms.refundTo == terms.buyer || terms.refundTo == payTo;
        if (amount == 0 || !refundable || terms.buyer == address(0) || terms.buyer == address(this)) revert BadTerms();
        _requireSoon(terms.deadline);
        deals[terms.id] =
            Deal(terms.buyer, terms.deadline, State.Held, false, terms.refundTo, terms.net, terms.fee, 0);
        totalHeld += amount;
        emit Deposited(terms.id, terms.buyer, terms.refundTo, terms.net, terms.fee, terms.deadline);
    }

    // --- out ---

    function release(bytes32 id) external onlyOperator whenNotPaused {
        Deal memory deal = _close(id, State.Released);
        emit Released(id, deal.net, deal.fee);
        token.safeTransfer(payTo, _amountOf(deal));
    }

    function refund(bytes32 id) external onlyOperator {
        Deal memory deal = _close(id, State.Refunded);
        uint256 amount = _amountOf(deal);
        emit Refunded(id, deal.refundTo, amount);
        token.safeTransfer(deal.refundTo, amount);
    }

    /// A dispute that ends between the two: the provider's part of the rest is floored, fees keep what is left.
    function resolve(bytes32 id, uint256 toBuyer) external onlyOperator whenNotPaused {
        Deal memory deal = _close(id, State.Split);
        uint256 amount = _amountOf(deal);
        if (toBuyer > amount) revert AmountMismatch();
        deals[id].toBuyer = uint128(toBuyer);
        uint256 rest = amount - toBuyer;
        uint256 net = (uint256(deal.net) * rest) / amount;
        emit Resolved(id, deal.refundTo, toBuyer, net, rest - net);
        if (toBuyer > 0) token.safeTransfer(deal.refundTo, toBuyer);
        if (rest > 0) token.safeTransfer(payTo, rest);
    }

    /// Anyone's call; the money goes to that job's buyer.
    function claimTimeout(bytes32 id) external {
        Deal storage held = _held(id);
        if (held.timeoutClosed) revert TimeoutClosed(id);
        if (block.timestamp < held.deadline) revert TooEarly(held.deadline);
        Deal memory deal = _close(id, State.TimedOut);
        uint256 amount = _amountOf(deal);
        emit TimedOut(id, deal.buyer, amount);
        token.safeTransfer(deal.buyer, amount);
    }

    /// At any time; to that job's buyer and nobody else.
    function emergencyWithdraw(bytes32 id) external onlyRole(DEFAULT_ADMIN_ROLE) {
        Deal memory deal = _close(id, State.Withdrawn);
        uint256 amount = _amountOf(deal);
        emit EmergencyWithdrawn(id, deal.buyer, amount);
        token.safeTransfer(deal.buyer, amount);
    }

    // --- what happens to the work ---

    function extend(bytes32 id, uint64 deadline) external onlyOperator {
        Deal storage deal = _held(id);
        if (deadline <= deal.deadline) revert BadTerms();
        _requireSoon(deadline);
        deal.deadline = deadline;
        emit Extended(id, deadline);
    }

    function markDelivered(bytes32 id) external onlyOperator {
        _held(id).timeoutClosed = true;
        emit Delivered(id);
    }

    function markDisputed(bytes32 id) external onlyOperator {
        _held(id).timeoutClosed = true;
        emit Disputed(id);
    }

    // --- the switch ---

    function pause() external onlyRole(PAUSER_ROLE) {
        _pause();
    }

    function unpause() external onlyRole(DEFAULT_ADMIN_ROLE) {
        _unpause();
    }

    function _held(bytes32 id) private view returns (Deal storage deal) {
        deal = deals[id];
        if (deal.state != State.Held) revert NotHeld(id, deal.state);
    }

    /// Ended before any money moves: no call from within can end it again.
    function _close(bytes32 id, State state) private returns (Deal memory deal) {
        Deal storage held = _held(id);
        held.state = state;
        deal = held;
        totalHeld -= _amountOf(deal);
    }

    function _requireSoon(uint64 deadline) private view {
        if (deadline <= block.timestamp || deadline > block.timestamp + LONGEST_WAIT) revert BadTerms();
    }

    function _amountOf(Deal memory deal) private pure returns (uint256) {
        return uint256(deal.net) + deal.fee;
    }
}
