// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ShortString, ShortStrings} from "@openzeppelin/contracts/utils/ShortStrings.sol";
import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// Worthless money that keeps every rule of the real dollar token that a payment can meet: EIP-3009 in both forms, block
/// list, pause, contract wallets, and the same revert texts in the same order. Name and version lie in the code, not in
/// storage, so that the EIP-712 domain is known before the contract is and stays with copied code.
contract TestToken is IERC20 {
    using ShortStrings for *;

    bytes32 public constant TRANSFER_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 public constant RECEIVE_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 public constant CANCEL_AUTHORIZATION_TYPEHASH =
        keccak256("CancelAuthorization(address authorizer,bytes32 nonce)");
    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    /// Above it, a signature has a twin: half of the curve's order.
    uint256 private constant HIGHEST_S = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

    ShortString private immutable NAME;
    ShortString private immutable VERSION;

    address public owner;
    bool public paused;
    uint256 public totalSupply;
    mapping(address account => uint256) public balanceOf;
    mapping(address account => mapping(address spender => uint256)) public allowance;
    mapping(address account => bool) public isBlacklisted;
    mapping(address authorizer => mapping(bytes32 nonce => bool)) public authorizationState;

    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);
    event Mint(address indexed minter, address indexed to, uint256 amount);
    event Blacklisted(address indexed account);
    event UnBlacklisted(address indexed account);
    event Pause();
    event Unpause();

    modifier onlyOwner() {
        require(msg.sender == owner, "Ownable: caller is not the owner");
        _;
    }

    modifier whenNotPaused() {
        require(!paused, "Pausable: paused");
        _;
    }

    modifier allowed(address account) {
        require(!isBlacklisted[account], "Blacklistable: account is blacklisted");
        _;
    }

    constructor(string memory name_, string memory version_, address owner_) {
        NAME = name_.toShortString();
        VERSION = version_.toShortString();
        owner = owner_;
    }

    function name() external view returns (string memory) {
        return NAME.toString();
    }

    function version() external view returns (string memory) {
        return VERSION.toString();
    }

    function symbol() external pure returns (string memory) {
        return "USDC";
    }

    function decimals() external pure returns (uint8) {
        return 6;
    }

    /// Computed at every call: a fork of the chain, or code that was copied elsewhere, is another domain.
    // solhint-disable-next-line func-name-mixedcase
    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        bytes32 nameHash = keccak256(bytes(NAME.toString()));
        bytes32 versionHash = keccak256(bytes(VERSION.toString()));
        return keccak256(abi.encode(DOMAIN_TYPEHASH, nameHash, versionHash, block.chainid, address(this)));
    }

    // --- the owner's acts ---

    function transferOwnership(address owner_) external onlyOwner {
        require(owner_ != address(0), "Ownable: new owner is the zero address");
        owner = owner_;
    }

    function mint(address to, uint256 amount) external onlyOwner whenNotPaused allowed(to) {
        require(to != address(0), "FiatToken: mint to the zero address");
        require(amount > 0, "FiatToken: mint amount not greater than 0");
        totalSupply += amount;
        balanceOf[to] += amount;
        emit Mint(msg.sender, to, amount);
        emit Transfer(address(0), to, amount);
    }

    function pause() external onlyOwner {
        paused = true;
        emit Pause();
    }

    function unpause() external onlyOwner {
        paused = false;
        emit Unpause();
    }

    function blacklist(address account) external onlyOwner {
        isBlacklisted[account] = true;
        emit Blacklisted(account);
    }

    function unBlacklist(address account) external onlyOwner {
        isBlacklisted[account] = false;
        emit UnBlacklisted(account);
    }

    // --- ERC-20 ---

    function approve(address spender, uint256 value)
        external
        whenNotPaused
        allowed(msg.sender)
        allowed(spender)
        returns (bool)
    {
        require(spender != address(0), "ERC20: approve to the zero address");
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value)
        external
        whenNotPaused
        allowed(msg.sender)
        allowed(to)
        returns (bool)
    {
        _transfer(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value)
        external
        whenNotPaused
        allowed(msg.sender)
        allowed(from)
        allowed(to)
        returns (bool)
    {
        uint256 left = allowance[from][msg.sender];
        require(value <= left, "ERC20: transfer amount exceeds allowance");
        _transfer(from, to, value);
        allowance[from][msg.sender] = left - value;
        return true;
    }

    // --- EIP-3009 ---

    struct Transfer3009 {
        address from;
        address to;
        uint256 value;
        uint256 validAfter;
        uint256 validBefore;
        bytes32 nonce;
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        Transfer3009 memory order = Transfer3009(from, to, value, validAfter, validBefore, nonce);
        _moveAuthorized(TRANSFER_WITH_AUTHORIZATION_TYPEHASH, order, abi.encodePacked(r, s, v));
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external {
        Transfer3009 memory order = Transfer3009(from, to, value, validAfter, validBefore, nonce);
        _moveAuthorized(TRANSFER_WITH_AUTHORIZATION_TYPEHASH, order, signature);
    }

    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        Transfer3009 memory order = Transfer3009(from, to, value, validAfter, validBefore, nonce);
        _moveAuthorized(RECEIVE_WITH_AUTHORIZATION_TYPEHASH, order, abi.encodePacked(r, s, v));
    }

    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external {
        Transfer3009 memory order = Transfer3009(from, to, value, validAfter, validBefore, nonce);
        _moveAuthorized(RECEIVE_WITH_AUTHORIZATION_TYPEHASH, order, signature);
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s) external {
        _cancel(authorizer, nonce, abi.encodePacked(r, s, v));
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, bytes memory signature) external {
        _cancel(authorizer, nonce, signature);
    }

    function _moveAuthorized(bytes32 typehash, Transfer3009 memory order, bytes memory signature)
        private
        whenNotPaused
        allowed(order.from)
        allowed(order.to)
    {
        if (typehash == RECEIVE_WITH_AUTHORIZATION_TYPEHASH) {
            require(order.to == msg.sender, "FiatTokenV2: caller must be the payee");
        }
        require(block.timestamp > order.validAfter, "FiatTokenV2: authorization is not yet valid");
        require(block.timestamp < order.validBefore, "FiatTokenV2: authorization is expired");
        _requireUnused(order.from, order.nonce);
        _requireSigned(order.from, keccak256(abi.encode(typehash, order)), signature);
        authorizationState[order.from][order.nonce] = true;
        emit AuthorizationUsed(order.from, order.nonce);
        _transfer(order.from, order.to, order.value);
    }

    function _cancel(address authorizer, bytes32 nonce, bytes memory signature) private whenNotPaused {
        _requireUnused(authorizer, nonce);
        _requireSigned(authorizer, keccak256(abi.encode(CANCEL_AUTHORIZATION_TYPEHASH, authorizer, nonce)), signature);
        authorizationState[authorizer][nonce] = true;
        emit AuthorizationCanceled(authorizer, nonce);
    }

    function _requireUnused(address authorizer, bytes32 nonce) private view {
        require(!authorizationState[authorizer][nonce], "FiatTokenV2: authorization is used or canceled");
    }

    /// A signer with code is asked itself, whatever the form of the signature; one without code must have made it.
    function _requireSigned(address signer, bytes32 structHash, bytes memory signature) private view {
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", DOMAIN_SEPARATOR(), structHash));
        bool valid = signer.code.length == 0
            ? _recover(digest, signature) == signer
            : _acceptedByContract(signer, digest, signature);
        require(valid, "FiatTokenV2: invalid signature");
    }

    function _acceptedByContract(address signer, bytes32 digest, bytes memory signature) private view returns (bool) {
        bytes memory question = abi.encodeCall(IERC1271.isValidSignature, (digest, signature));
        (bool answered, bytes memory answer) = signer.staticcall(question);
        return answered && answer.length >= 32
            && abi.decode(answer, (bytes32)) == bytes32(IERC1271.isValidSignature.selector);
    }

    function _recover(bytes32 digest, bytes memory signature) private pure returns (address) {
        require(signature.length == 65, "ECRecover: invalid signature length");
        bytes32 r;
        bytes32 s;
        uint8 v;
        assembly ("memory-safe") {
            r := mload(add(signature, 0x20))
            s := mload(add(signature, 0x40))
            v := byte(0, mload(add(signature, 0x60)))
        }
        require(uint256(s) <= HIGHEST_S, "ECRecover: invalid signature 's' value");
        require(v == 27 || v == 28, "ECRecover: invalid signature 'v' value");
        address signer = ecrecover(digest, v, r, s);
        require(signer != address(0), "ECRecover: invalid signature");
        return signer;
    }

    function _transfer(address from, address to, uint256 value) private {
        require(from != address(0), "ERC20: transfer from the zero address");
        require(to != address(0), "ERC20: transfer to the zero address");
        uint256 held = balanceOf[from];
        require(value <= held, "ERC20: transfer amount exceeds balance");
        balanceOf[from] = held - value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}
